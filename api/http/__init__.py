"""HTTP for all routes: bodies, query parameters, middleware, and the OpenAPI document."""
