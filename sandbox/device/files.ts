/** A file that comes with an invocation. */
interface RemoteFile {
  url: string;
  bytes: number;
}

const isNear = (url: string): boolean => ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

/**
 * Fetches the files of an invocation, as a device has to while their addresses hold, and says what came, one sentence
 * each. A device of the sandbox goes nowhere but to this machine.
 */
export function describeFiles(files: Readonly<Record<string, RemoteFile>>): Promise<string[]> {
  return Promise.all(Object.entries(files).map(async ([name, file]) => `file ${name}: ${await describe(file)}`));
}

async function describe(file: RemoteFile): Promise<string> {
  try {
    const { url, bytes } = file;
    if (!isNear(url)) return 'not fetched, for it is not on this machine';
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(10_000) });
    if (!response.ok) return `could not be fetched: HTTP ${response.status}`;
    let came = 0;
    for await (const chunk of response.body ?? []) came += chunk.length;
    return `${came} bytes fetched${came === bytes ? '' : `, though ${bytes} were announced`}`;
  } catch (error) {
    return `could not be fetched: ${error instanceof Error ? error.message : error}`;
  }
}
