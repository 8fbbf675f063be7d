/** A text that stands once in a file, and what takes its place. */
export interface Change {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A run of the tests of one file whose titles have one of these words. */
export interface Attempt {
  readonly testFile: string;
  readonly words: readonly string[];
  /** Absent: the code as it is. */
  readonly change?: Change;
  /** Else in that of the attempt before, if it was with the same test file: sooner, but something of it may be left there. */
  readonly inNewProcess: boolean;
  /** For one test. */
  readonly testMs: number;
  /** For what comes before and after it. */
  readonly hookMs: number;
}

/** What came of it. */
export interface Seen {
  readonly tests: readonly SeenTest[];
  /** Why the test file, or the file with the change, could not be tried. */
  readonly troubles: readonly string[];
}

export interface SeenTest {
  /** With the titles of the groups around it. */
  readonly title: string;
  readonly hasPassed: boolean;
  readonly hasTimedOut: boolean;
  readonly ms: number;
}

/** Whether the place of a change is there, and no other like it. */
export const standsOnce = (text: string, { find }: Change): boolean => text.split(find).length === 2;
