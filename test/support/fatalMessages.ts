/** Is written to standard output before a message ends the process. */
export const fatalLine = 'a fatal message ends the process';

/**
 * For the environment of a service process: a request whose correlation id begins with `fatal` ends the process when a
 * backend is called for it, or some time after that. The service itself knows nothing of that.
 */
export const fatalAfter = (ms: number) => {
  const program = `
import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
function end() {
  writeSync(1, ${JSON.stringify(`${JSON.stringify({ msg: fatalLine })}\n`)});
  process.abort();
}
subscribe('undici:request:create', ({ request }) => {
  if (!/"x-correlation-id","fatal/.test(JSON.stringify(request.headers))) return;
  if (${ms} === 0) end();
  else setTimeout(end, ${ms});
});`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` };
};

export const fatalMessages = fatalAfter(0);
