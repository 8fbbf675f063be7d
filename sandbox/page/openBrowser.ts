import { spawn } from '../service/endWithUs.ts';

const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens an address in the browser of the person at this machine. The browser stays when this program ends. */
export function openBrowser(url: string, failed: () => void): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  spawn(program, [...args, url], { stdio: 'ignore' })
    .on('error', failed)
    .unref();
}
