/**
 * For the environment of a service process: a request whose correlation id begins with `fatal` ends the process as soon as
 * a backend is called for it. The service itself knows nothing of that.
 */
const program = `
import { subscribe } from 'node:diagnostics_channel';
subscribe('undici:request:create', ({ request }) => {
  if (/"x-correlation-id","fatal/.test(JSON.stringify(request.headers))) process.abort();
});`;

export const fatalMessages = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` };
