/** Parts of the hub clients' AMQP libraries for which there are no typings: each client has a library of its own. */
interface FrameBuffers {
  allocate_buffer(size: number): Buffer;
}

declare module 'rhea/lib/util.js' {
  const library: FrameBuffers;
  export default library;
}

declare module 'azure-iothub/node_modules/rhea/lib/util.js' {
  const library: FrameBuffers;
  export default library;
}
