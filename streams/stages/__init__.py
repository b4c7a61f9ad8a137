"""The stages of the flow. Stages never import each other."""
