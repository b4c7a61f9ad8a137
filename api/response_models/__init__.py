"""Response models of the routes, for the OpenAPI document."""
