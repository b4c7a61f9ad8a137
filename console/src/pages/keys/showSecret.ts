/** Passes a new key on, also if its dialog was closed meanwhile: the service shows the key only once. The dialog shows why it failed. */
export function showSecret(made: Promise<{ key: string }>, onMade: (key: string) => void): void {
  void made.then(
    ({ key }) => onMade(key),
    () => undefined,
  );
}
