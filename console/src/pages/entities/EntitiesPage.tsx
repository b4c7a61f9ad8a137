export function EntitiesPage() { return <h1>EntitiesPage</h1>; }
