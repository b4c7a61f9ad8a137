"""How well a candidate answers a question: features, scores, fading and confidence."""
