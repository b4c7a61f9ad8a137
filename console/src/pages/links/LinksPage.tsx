export function LinksPage() { return <h1>LinksPage</h1>; }
