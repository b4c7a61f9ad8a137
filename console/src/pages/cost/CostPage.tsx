export function CostPage() { return <h1>CostPage</h1>; }
