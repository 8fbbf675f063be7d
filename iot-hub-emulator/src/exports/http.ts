/** `iot-hub-emulator/http`: what the admin port is served with, for programs that run beside a hub. */
export { readBody } from '../http/body.ts';
export {
  type Answer,
  createHttpServer,
  type HttpListener,
  isLocal,
  listenHttp,
  type Unanswered,
} from '../http/httpServer.ts';
export { createRouter, type Match, splitUrl } from '../http/routes.ts';
