"""Models that the kit asks, loads, converts and exports."""
