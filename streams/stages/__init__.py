"""The stages. Stages never import each other."""
