import { useEffect, useState } from 'preact/hooks';
import { indented } from '../text/rawJson.ts';

/** Longer bodies are shown up to here until they are asked for. */
const most = 20_000;

interface BodyProps {
  readonly text: string | undefined;
  /** Base64 of what is no text. */
  readonly bytes?: string | undefined;
  /** `content-encoding`; compressed data is itself, or base64 as text. */
  readonly encoding?: string | undefined;
}

/** A body as text: JSON indented, what is compressed decompressed. Never as markup. */
export function Body({ text, bytes, encoding = '' }: BodyProps) {
  const [inflated, setInflated] = useState<string>();
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    setInflated(undefined);
    const packed = text ?? bytes;
    const format = encoding.toLowerCase();
    if (packed === undefined || (format !== 'gzip' && format !== 'deflate')) return;
    inflate(packed, format).then(setInflated, () => {});
  }, [text, bytes, encoding]);
  const shown = indented(inflated ?? text ?? '');
  if (text === undefined && bytes !== undefined && inflated === undefined)
    return <p class="quiet">no text; base64: {bytes.slice(0, most)}</p>;
  if (shown === '') return <p class="quiet">no body</p>;
  return (
    <>
      {inflated !== undefined && (
        <p class="quiet">compressed ({(text ?? bytes)?.length} characters of base64), here decompressed</p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <pre class="body" tabIndex={0}>
        {isWhole ? shown : shown.slice(0, most)}
      </pre>
      {!isWhole && shown.length > most && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {shown.length} characters
        </button>
      )}
    </>
  );
}

/** Decompressed bytes beyond this are not shown. */
const mostInflated = 2 * 1024 * 1024;

async function inflate(base64: string, format: CompressionFormat): Promise<string> {
  const packed = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format));
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > mostInflated) return `${text}…`;
  }
  return text;
}
