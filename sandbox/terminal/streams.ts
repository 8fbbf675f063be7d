/** Where a command reads and writes: its process, or in a test whatever stands for it. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: Output;
  readonly stderr: Pick<NodeJS.WritableStream, 'write'>;
}

/** With colours where it is a terminal. */
export type Output = Pick<NodeJS.WritableStream, 'write'> & { readonly isTTY?: boolean };
