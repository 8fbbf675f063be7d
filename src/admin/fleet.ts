import { lookup } from 'node:dns/promises';
import { printable } from '@device-messaging/telemetry/text.ts';
import { z } from 'zod';
import { askAdmin } from './commands.ts';

const answerWithinMs = 5_000;

const program = z.object({
  ...{ program: z.string().optional(), instance: z.string().optional(), version: z.string().optional() },
  paths: z.record(z.string(), z.string()),
});
const troubles = z.object({ troubles: z.array(z.object({ message: z.string() })) });
const named = z.object({ partition: z.string() });
const partitions = z.object({
  partitions: z.array(named.extend({ behindSeconds: z.number().nullable() })),
  elsewhere: z.array(named),
});

type Said = Omit<z.infer<typeof program>, 'paths'> & Pick<z.infer<typeof partitions>, 'partitions'>;
/** What an instance says of itself; `error`: why it does not. */
type FleetMember = Readonly<Partial<Said> & { address: string; troubles?: readonly string[]; error?: string }>;

/**
 * Asks the admin ports of all instances at the same time.
 * @param addresses `host:port`, separated by commas; a name with several addresses (a headless service) stands for each of them
 * @param token of who asks: what an instance tells is for it to decide
 * @returns `unread`: partitions that some instance knows of, and none reads
 */
export async function lookAtFleet(addresses: string, token: string) {
  const found = await Promise.all(addresses.split(',').map((one) => addressesOf(one.trim())));
  const looked = await Promise.all(found.flat().map((address) => lookAt(address, token)));
  const known = looked.flatMap(({ member, elsewhere }) => [...readBy(member), ...elsewhere]);
  const read = new Set(looked.flatMap(({ member }) => readBy(member)));
  return {
    members: looked.map(({ member }) => member),
    unread: [...new Set(known)].filter((one) => !read.has(one)).sort((one, other) => Number(one) - Number(other)),
  };
}

const readBy = ({ partitions = [] }: FleetMember): string[] => partitions.map(({ partition }) => partition);

/** Of one family: with both, each instance would be there twice. A name without an address stays, to be told as one that does not answer. */
async function addressesOf(address: string): Promise<string[]> {
  const { hostname, port } = new URL(`http://${address}`);
  const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).catch(() => []);
  const ofIPv4 = found.filter(({ family }) => family === 4);
  const all = ofIPv4.length > 0 ? ofIPv4 : found;
  // A web server on this machine only is asked by the name that it expects.
  if (all.length < 2) return [address];
  return all.map((one) => `${one.family === 6 ? `[${one.address}]` : one.address}:${port || 80}`);
}

async function lookAt(address: string, token: string): Promise<{ member: FleetMember; elsewhere: readonly string[] }> {
  const signal = AbortSignal.timeout(answerWithinMs);
  const ask = async <T>(path: string, shape: z.ZodType<T>): Promise<T> =>
    shape.parse(
      await (await askAdmin({ host: '', port: 0, token }, `http://${address}`, path, undefined, signal)).json(),
    );
  try {
    const { paths, ...about } = await ask('/', program);
    const said = await ask('/troubles', troubles);
    const found = 'GET /partitions' in paths ? await ask('/partitions', partitions) : undefined;
    const common = { address, ...about, troubles: said.troubles.map(({ message }) => message) };
    const member = found ? { ...common, partitions: found.partitions } : common;
    return { member, elsewhere: found?.elsewhere.map(({ partition }) => partition) ?? [] };
  } catch (error) {
    const what = error instanceof z.ZodError ? 'answers otherwise than an instance' : (error as Error).message;
    return { member: { address, error: what }, elsewhere: [] };
  }
}

/** `GET /fleet`, with the token of who asks. */
export const fleetRoute = (addresses: string) => ({
  about: 'all instances that ADMIN_INSTANCES names: what each reads, how far it is behind, and what is wrong',
  get: (_: URLSearchParams, authorization = '') => lookAtFleet(addresses, authorization.replace(/^Bearer /, '')),
});

export function readableFleet({ members, unread }: Awaited<ReturnType<typeof lookAtFleet>>): string {
  const rows = members.map(({ address, program = '', instance = '', version = '', error, ...about }) => {
    const { partitions = [], troubles = [] } = about;
    const most = Math.max(...partitions.map(({ behindSeconds }) => Number(behindSeconds)));
    const behind = partitions.some(({ behindSeconds }) => behindSeconds === null) ? 'not known' : `${most} s`;
    const reads = partitions.map(({ partition }) => partition).join(' ');
    return error === undefined
      ? [address, program, instance, version, reads, partitions.length > 0 ? behind : '', troubles.join('; ')]
      : [address, '', '', '', '', '', error];
  });
  const head = ['address', 'program', 'instance', 'version', 'reads', 'behind', 'troubles'];
  const all = [head, ...rows.map((row) => row.map(printable))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number) => cell.padEnd(widths[column] ?? 0);
  const lines = all.map((row) => row.map(padded).join('  ').trimEnd());
  return [...lines, ...(unread.length > 0 ? [`read by no instance: ${unread.join(' ')}`] : []), ''].join('\n');
}
