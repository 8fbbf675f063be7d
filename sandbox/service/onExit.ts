const cleanups = new Set<() => void>();

function cleanUp(): void {
  for (const cleanup of cleanups) cleanup();
}

/**
 * Calls `cleanup` when this process exits, so that what it started does not outlive it. One listener serves all: there may be
 * dozens of them at once, more than an event emitter expects. Returns a function that cancels it.
 */
export function onExit(cleanup: () => void): () => void {
  if (!process.listeners('exit').includes(cleanUp)) process.once('exit', cleanUp);
  cleanups.add(cleanup);
  return () => void cleanups.delete(cleanup);
}
