import type { ServerResponse } from 'node:http';
import type { SecretList } from '@device-messaging/telemetry/secrets.ts';
import { z } from 'zod';
import { createTapLines, type Taps } from '../observing/taps.ts';
import { type AdminRoute, BadRequest } from './adminServer.ts';

const tapQuery = z.strictObject({
  device: z.string().min(1).max(128),
  seconds: z.coerce.number().int().min(1).max(3_600).default(60),
  bodies: z.enum(['true', 'false']).default('false'),
});

const nothingSeen = 'nothing of this device came here: it may be silent, or another instance has its partition';
const nothingNew = 'nothing moved: what is held of this device waits as `held` says; /devices lists it';

/** How long a reader may take to read the rest, when the time is over. */
const restMs = 5_000;

/**
 * `GET /tap`: the stages of a device's messages as they come, one line of JSON each.
 * @param where which instance follows, and what it reads and holds of a device: the oldest work, if there is any
 */
export function tapRoute(
  taps: Taps,
  secrets: SecretList,
  where: (device: string) => { readonly held: object | undefined },
): AdminRoute {
  const lineOf = createTapLines(secrets);

  return {
    about: 'follows the messages of a device; ?device=D, ?seconds=60, ?bodies=true',
    stream(query, response) {
      const { device, seconds, bodies } = tapQuery.parse(Object.fromEntries(query));
      const writer = createBoundedWriter(response, (events) => lineOf({ time: now(), stage: 'dropped', events }));
      let events = 0;
      const stop = taps.open({
        device,
        follow(event, own, token) {
          if (event.stage !== 'gap') events += 1;
          writer.write(() => lineOf(event, bodies === 'true' ? own : undefined, token));
        },
      });
      if (stop === undefined) throw new BadRequest('too many follow a device already: end one', 429);
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
      writer.write(() => lineOf({ time: now(), stage: 'following', device, seconds, ...where(device) }));
      const timer = setTimeout(() => {
        stop();
        const { held } = where(device);
        const hint = events > 0 ? undefined : held === undefined ? nothingSeen : nothingNew;
        writer.end(lineOf({ time: now(), stage: 'ended', why: 'the time is over', events, hint, held }));
        setTimeout(() => response.destroy(), restMs).unref();
      }, seconds * 1000);
      response.once('close', () => {
        clearTimeout(timer);
        stop();
      });
    },
  };
}

const now = (): string => new Date().toISOString();

/** Bytes that wait for a slow reader; further lines are dropped. */
const mostBuffered = 256 * 1024;

/** @param droppedLine a line about lines that were dropped */
function createBoundedWriter(response: ServerResponse, droppedLine: (count: number) => string) {
  let dropped = 0;
  const isFull = () => response.writableLength > mostBuffered;

  function tellDropped() {
    if (dropped === 0 || isFull()) return;
    response.write(droppedLine(dropped));
    dropped = 0;
  }

  response.on('drain', tellDropped);
  return {
    write(line: () => string): void {
      tellDropped();
      if (dropped > 0 || isFull()) dropped += 1;
      else response.write(line());
    },
    end: (line: string) => void response.end(dropped > 0 ? droppedLine(dropped) + line : line),
  };
}
