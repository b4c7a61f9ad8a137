"""Parts of the Helm chart that follow from the settings, the stages and the values."""
