export function LettersPage() { return <h1>LettersPage</h1>; }
