/** A setting that is gone. */
export interface Retired {
  /** Its environment variable. */
  readonly variable: string;
  /** Its place in a file of settings. */
  readonly path: string;
  /** What to do now, as a sentence. */
  readonly instead: string;
  /** To go on without it would leave behind what the service has kept: the start is refused. Else it is a warning (D24). */
  readonly isVital: boolean;
}

export const retiredSettings: readonly Retired[] = [
  {
    variable: 'CHECKPOINTS_DIRECTORY',
    path: 'checkpoints.directory',
    instead: 'set DATA_DIRECTORY, and move what the folder holds into its folder `checkpoints`',
    isVital: true,
  },
  {
    variable: 'DEAD_LETTERS_DIRECTORY',
    path: 'deadLetters.directory',
    instead: 'set DATA_DIRECTORY, and move what the folder holds into its folder `dead-letters`',
    isVital: true,
  },
  {
    variable: 'DELIVERY_SPOOL_DIRECTORY',
    path: 'delivery.spoolDirectory',
    instead: 'set DATA_DIRECTORY, or mount another place at its folder `spool`',
    isVital: false,
  },
];

/** One sentence for each that is set and must not be passed over. */
export const vitalRetired = (env: NodeJS.ProcessEnv): string[] =>
  retiredSettings
    .filter(({ variable, isVital }) => isVital && env[variable])
    .map(({ variable, instead }) => `${variable} is no setting any more: ${instead}`);
