/** What is known of a dead letter without reading it. */
export interface Entry {
  readonly id: string;
  readonly bytes: number;
  /** When it was put there, in milliseconds since 1970. */
  readonly at: number;
}

/** Where dead letters lie: ids and texts, nothing of limits. All verbs reject when the place cannot be reached. */
export interface Place {
  /** In no order, and with what others have put beside the dead letters: ask `isLetterId`. */
  entries(folder?: string): AsyncIterable<Entry>;
  /** Undefined when there is none. */
  read(id: string): Promise<string | undefined>;
  /** As a whole or not at all; replaces what is there. */
  write(id: string, text: string): Promise<void>;
  /** One that is gone already is all right. */
  remove(id: string): Promise<void>;
}
