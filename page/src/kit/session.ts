import { useState } from 'preact/hooks';

/** State that a reload keeps, in the session of this tab. */
export function useSession<T>(key: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      return JSON.parse(sessionStorage.getItem(key) ?? '') as T;
    } catch {
      return initial;
    }
  });
  return [
    value,
    (next) => {
      setValue(next);
      try {
        sessionStorage.setItem(key, JSON.stringify(next));
      } catch {
        // Full, or forbidden: the state is lost by a reload.
      }
    },
  ];
}
