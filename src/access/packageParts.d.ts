/** Parts of packages for which there are no typings. The hub clients' AMQP libraries: each client has one of its own. */

declare module '*rhea/lib/util.js' {
  const library: { allocate_buffer(size: number): Buffer };
  export default library;
}

declare module '*rhea/lib/message.js' {
  const library: {
    decode(bytes: Buffer | undefined): object;
    data_section(bytes: Buffer): object;
  };
  export default library;
}

declare module '*rhea/lib/frames.js' {
  const library: { read_frame(bytes: Buffer): object | null };
  export default library;
}

declare module '*rhea/lib/connection.js' {
  const library: {
    readonly prototype: {
      dispatch(event: string, ...details: unknown[]): boolean;
      on_error(error: unknown): void;
      _connect(details: { readonly options?: { servername?: string } }): object;
    };
  };
  export default library;
}

declare module '*rhea/lib/terminus.js' {
  const library: {
    unwrap(end: { readonly descriptor?: { readonly value: unknown } } | null | undefined): object | null;
  };
  export default library;
}

/** Only the pool, which needs half as much to be loaded as all of undici (D176). */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}

declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
