/** Lets the parent process call functions by name, one answer for each call. */
export function answerParent(functions: Readonly<Record<string, (argument: never) => unknown>>): void {
  process.on('message', async ({ id, name, argument }: { id: number; name: string; argument: never }) => {
    try {
      process.send?.({ id, value: await functions[name]?.(argument) });
    } catch (error) {
      process.send?.({ id, error: String((error as Error).stack) });
    }
  });
  process.on('disconnect', () => process.exit());
}
