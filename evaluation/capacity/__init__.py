"""How many machines a load needs, from what one message was measured to cost."""
