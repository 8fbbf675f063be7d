/** What a listing tells of a dead letter. */
export interface LetterInfo {
  readonly id: string;
  readonly bytes: number;
  /** Time of writing, in milliseconds since 1970. */
  readonly at: number;
}

/** Storage for dead letters: texts by id, without limits. All verbs reject when the storage cannot be reached. */
export interface LetterStorage {
  /** In any order. There may be other files or blobs: check with `isLetterId`. */
  entries(folder?: string): AsyncIterable<LetterInfo>;
  /**
   * Undefined when it does not exist.
   * @throws ForeignFile when it is longer than `mostBytes`
   */
  read(id: string, mostBytes: number): Promise<string | undefined>;
  /** Atomic; replaces an existing text. */
  write(id: string, text: string): Promise<void>;
  /** No error when it does not exist. */
  remove(id: string): Promise<void>;
}
