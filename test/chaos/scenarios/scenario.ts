/** One course of events that is played as it is written down, against the real program, and looked at from outside. */
export interface Scenario {
  readonly name: string;
  /** What happens in it, for the help of the command. */
  readonly about: string;
  /** @returns what was wrong, a sentence each; empty when all is well */
  run(stage: ScenarioOptions): Promise<readonly string[]>;
}

export interface ScenarioOptions {
  /** For logs, stores and so on; it is there. Kept when something was wrong. */
  readonly directory: string;
  /** Has `dist/main.js`. */
  readonly serviceDirectory: string;
  readonly seed: number;
  /** Prints what was seen: counts, times, ratios. */
  say(line: string): void;
}
