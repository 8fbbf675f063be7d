import { useEffect, useState } from 'preact/hooks';
import { indented } from '../text/rawJson.ts';

/** Longer bodies are shown up to here until they are asked for. */
const most = 20_000;

interface BodyProps {
  readonly text: string | undefined;
  /** Base64 of what is no text. */
  readonly bytes?: string | undefined;
  /** The text is base64 of gzip. */
  readonly isCompressed: boolean;
}

/** A body as text: JSON indented, what is compressed decompressed. Never as markup. */
export function Body({ text, bytes, isCompressed }: BodyProps) {
  const [inflated, setInflated] = useState<string>();
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    setInflated(undefined);
    if (!isCompressed || text === undefined) return;
    inflate(text).then(setInflated, () => {});
  }, [text, isCompressed]);
  const shown = indented(inflated ?? text ?? '');
  if (text === undefined && bytes !== undefined) return <p class="quiet">no text; base64: {bytes.slice(0, most)}</p>;
  if (shown === '') return <p class="quiet">no body</p>;
  return (
    <>
      {inflated !== undefined && <p class="quiet">compressed ({text?.length} bytes as base64), here decompressed</p>}
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

async function inflate(base64: string): Promise<string> {
  const packed = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > mostInflated) return `${text}…`;
  }
  return text;
}
