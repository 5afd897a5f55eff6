/**
 * Returns a function that runs a task. Calls while it runs make it run once more afterwards, however many they are; each call
 * resolves when no run is due any more.
 */
export function onceMore(task: () => Promise<void>): () => Promise<void> {
  let isDue = false;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    try {
      while (isDue) {
        isDue = false;
        await task();
      }
    } finally {
      running = undefined;
    }
  };
  return () => {
    isDue = true;
    running ??= run();
    return running;
  };
}
