import { useState } from 'preact/hooks';

/** Buttons that copy texts. Where the browser does not allow it, the text is shown to be copied by hand. */
export function Copies({ copies }: { readonly copies: readonly { readonly as: string; readonly text: string }[] }) {
  const [said, setSaid] = useState('');
  const [shown, setShown] = useState('');
  const copy = async (as: string, text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(`copied: ${as}`);
      setShown('');
    } catch {
      setSaid('copy it from here');
      setShown(text);
    }
  };
  return (
    <div class="copies">
      {copies.map(({ as, text }) => (
        <button key={as} type="button" title={text.slice(0, 2_000)} onClick={() => copy(as, text)}>
          Copy as {as}
        </button>
      ))}
      <span role="status">{said}</span>
      {shown !== '' && <textarea aria-label="text to copy" readOnly rows={6} value={shown} />}
    </div>
  );
}

/** A command for a terminal, to copy. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <Copies copies={[{ as: 'command', text }]} />
    </div>
  );
}
