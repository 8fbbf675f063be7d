/** A file that comes with an invocation. */
interface RemoteFile {
  url: string;
  bytes: number;
}

const isLocal = (url: string): boolean => ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

/** Fetches the files of an invocation and describes each result in a sentence. Only addresses on this machine are fetched. */
export function describeFiles(files: Readonly<Record<string, RemoteFile>>): Promise<string[]> {
  return Promise.all(Object.entries(files).map(async ([name, file]) => `file ${name}: ${await describe(file)}`));
}

async function describe(file: RemoteFile): Promise<string> {
  try {
    const { url, bytes } = file;
    if (!isLocal(url)) return 'not fetched, because its address is not on this machine';
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(10_000) });
    if (!response.ok) return `could not be fetched: HTTP ${response.status}`;
    let received = 0;
    for await (const chunk of response.body ?? []) received += chunk.length;
    return `${received} bytes fetched${received === bytes ? '' : `, though ${bytes} were announced`}`;
  } catch (error) {
    return `could not be fetched: ${error instanceof Error ? error.message : error}`;
  }
}
