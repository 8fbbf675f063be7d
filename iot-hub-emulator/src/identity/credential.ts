/** By what a device proves, when it connects, who it is. */
export type Credential =
  /** A shared access signature, made with a key of the device or of a policy. */
  { kind: 'key'; token: string };
