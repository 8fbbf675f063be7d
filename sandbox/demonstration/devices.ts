import type { Device } from '../device/device.ts';
import type { DemonstratedSandbox } from './exchange.ts';

/** Connects a device when it is first asked for. */
export type Connect = (id: string) => Promise<Device>;

/** Runs `work` with devices of the sandbox. They are closed when it ends, and when `signal` aborts. */
export async function withDevices<T>(
  sandbox: DemonstratedSandbox,
  signal: AbortSignal | undefined,
  work: (connect: Connect, connected: ReadonlyMap<string, Device>) => Promise<T>,
): Promise<T> {
  const devices = new Map<string, Device>();
  const close = () => Promise.all([...devices.values()].map((device) => device.close()));
  signal?.addEventListener('abort', close);
  try {
    return await work(async (id) => {
      const device = devices.get(id) ?? (await sandbox.connect(id));
      devices.set(id, device);
      return device;
    }, devices);
  } finally {
    signal?.removeEventListener('abort', close);
    await close();
  }
}
