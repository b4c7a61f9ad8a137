export function ErasuresPage() { return <h1>ErasuresPage</h1>; }
