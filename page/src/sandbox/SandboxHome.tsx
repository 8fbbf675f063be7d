import type { ComponentChildren } from 'preact';
import { usePolled } from '../kit/ask.ts';
import { linkTo, useRoute } from '../kit/route.ts';
import type { About } from './about.ts';
import { DevicesView } from './DevicesView.tsx';
import { FaultsBar } from './FaultsBar.tsx';
import { FaultsView } from './FaultsView.tsx';
import { useFaults } from './faults.ts';
import { InvokeView } from './InvokeView.tsx';
import { useLive } from './live.ts';
import { MessagesView } from './MessagesView.tsx';
import { ObjectsView } from './ObjectsView.tsx';
import { SendView } from './SendView.tsx';
import { useTold } from './told.ts';

const views = {
  messages: 'Messages',
  send: 'Send',
  invoke: 'Invoke',
  faults: 'Faults',
  devices: 'Devices',
  objects: 'Objects',
} as const;

/** The page of a sandbox: what happens in it, and what can be made to happen. */
export function SandboxHome() {
  const { view, query } = useRoute();
  const live = useLive();
  const { value: about, error } = usePolled<About>('sandbox', 60_000);
  const faults = useFaults();
  const told = useTold();
  const current = view in views ? (view as keyof typeof views) : 'messages';

  function content(): ComponentChildren {
    if (!about)
      return <p role="status">{error ? `The sandbox cannot be asked: ${error.message}` : 'The sandbox is asked …'}</p>;
    switch (current) {
      case 'messages':
        return <MessagesView live={live} query={query} about={about} told={told} />;
      case 'send':
        return <SendView about={about} query={query} />;
      case 'invoke':
        return <InvokeView about={about} />;
      case 'faults':
        return <FaultsView faults={faults} />;
      case 'devices':
        return <DevicesView query={query} />;
      case 'objects':
        return <ObjectsView query={query} />;
    }
  }

  return (
    <>
      <header>
        <h1>Sandbox</h1>
        <nav aria-label="Views">
          {Object.entries(views).map(([name, title]) => (
            <a key={name} href={linkTo(name)} aria-current={name === current ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <span class={live.isConnected ? 'quiet' : 'is-failed'} role="status">
          {live.isConnected ? 'live' : 'not connected'}
        </span>
      </header>
      <FaultsBar faults={faults} />
      <main>{content()}</main>
    </>
  );
}
