"""Messages: their accepted shapes, their preparation for a window, and the parts that are not their writer's own words."""
