import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { execFile, spawn } from '../../sandbox/service/endWithUs.ts';
import { isRoot } from './followDockerfile.ts';

const execute = promisify(execFile);

const addresses = { server: ['10.77.0.1/24', 'fd77::1/64'], client: ['10.77.0.2/24', 'fd77::2/64'] };

/** Of the server, by the version of IP. */
export const serverAddress = { 4: '10.77.0.1', 6: 'fd77::1' };

export type Network = Awaited<ReturnType<typeof openNetwork>>;

/**
 * Two machines with a cable between them, and nothing of the network of this one: network namespaces. Answers the words before a command that
 * run it there: `nsenter` with options, to which more can be added.
 * @param name by which the client calls the server, at this address of it
 * @throws Error where namespaces are not permitted
 */
export async function openNetwork(name: string, address: string) {
  const hosts = join(tmpdir(), `hosts-${process.pid}-${Math.random().toString(36).slice(2)}`);
  await writeFile(hosts, `127.0.0.1 localhost\n::1 localhost\n${address} ${name}\n`, { mode: 0o644 });
  const machines: Awaited<ReturnType<typeof openMachine>>[] = [];
  const close = async () => {
    await Promise.all(machines.map((machine) => machine.close()));
    await rm(hosts, { force: true });
  };
  try {
    const [server, client] = [await openMachine(hosts), await openMachine(hosts)];
    machines.push(server, client);
    const ends = ['server', 'netns', server.pid, 'type', 'veth', 'peer', 'name', 'client', 'netns', client.pid];
    await execute('ip', ['link', 'add', ...ends]);
    for (const [end, { enter }] of Object.entries({ server, client })) {
      const ip = (...words: string[]) => execute(enter[0] ?? '', [...enter.slice(1), 'ip', ...words]);
      await ip('link', 'set', 'lo', 'up');
      await ip('link', 'set', end, 'up');
      for (const own of addresses[end as keyof typeof addresses])
        await ip('address', 'add', own, 'dev', end, ...(own.includes(':') ? ['nodad'] : []));
    }
    return { server: server.enter, client: client.enter, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Why there is no such network here; `undefined` where there is. */
export async function whyNoNetwork(): Promise<string | undefined> {
  if (!isRoot) return 'network namespaces with a cable are for root';
  try {
    await (await openNetwork('server', serverAddress[4])).close();
    return undefined;
  } catch (error) {
    return `network namespaces are not permitted: ${(error as Error).message}`;
  }
}

/** A machine as an engine makes it, with these hosts, in which every user may open every port. It ends with this process. */
async function openMachine(hosts: string) {
  const prepare =
    'mount --bind "$0" /etc/hosts && echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start && echo ready';
  const holder = spawn('unshare', ['--net', '--mount', 'sh', '-c', `${prepare} && exec cat`, hosts], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(holder, 'exit');
  const lines = createInterface({ input: holder.stdout });
  const [said] = await Promise.race([once(lines, 'line'), ended]);
  if (said !== 'ready') throw new Error('unshare --net --mount failed');
  const pid = String(holder.pid);
  return {
    pid,
    enter: ['nsenter', '--target', pid, '--net', '--mount', '--wd'],
    async close() {
      holder.stdin.end();
      await ended;
    },
  };
}
