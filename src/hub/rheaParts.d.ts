/** Parts of the hub clients' AMQP libraries for which there are no typings: each client has a library of its own. */
interface FrameBuffers {
  allocate_buffer(size: number): Buffer;
}

interface MessageCodec {
  decode(bytes: Buffer | undefined): object;
  data_section(bytes: Buffer): object;
}

interface FrameCodec {
  read_frame(bytes: Buffer): object | null;
}

interface ConnectionClass {
  readonly prototype: {
    /** Returns whether the event has a listener. */
    dispatch(event: string, ...details: unknown[]): boolean;
    /** Listens to errors of the socket. */
    on_error(error: unknown): void;
    _connect(details: { readonly options?: { servername?: string } }): object;
  };
}

interface Termini {
  unwrap(end: { readonly descriptor?: { readonly value: unknown } } | null | undefined): object | null;
}

declare module 'rhea/lib/util.js' {
  const library: FrameBuffers;
  export default library;
}

declare module 'rhea/lib/message.js' {
  const library: MessageCodec;
  export default library;
}

declare module 'rhea/lib/frames.js' {
  const library: FrameCodec;
  export default library;
}

declare module 'azure-iothub/node_modules/rhea/lib/util.js' {
  const library: FrameBuffers;
  export default library;
}

declare module 'azure-iothub/node_modules/rhea/lib/message.js' {
  const library: MessageCodec;
  export default library;
}

declare module 'azure-iothub/node_modules/rhea/lib/frames.js' {
  const library: FrameCodec;
  export default library;
}

declare module 'rhea/lib/connection.js' {
  const library: ConnectionClass;
  export default library;
}

declare module 'rhea/lib/terminus.js' {
  const library: Termini;
  export default library;
}

declare module 'azure-iothub/node_modules/rhea/lib/connection.js' {
  const library: ConnectionClass;
  export default library;
}

declare module 'azure-iothub/node_modules/rhea/lib/terminus.js' {
  const library: Termini;
  export default library;
}
