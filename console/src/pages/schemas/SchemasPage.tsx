export function SchemasPage() { return <h1>SchemasPage</h1>; }
