"""The entities stage: contributions in, entity state and memories out."""
