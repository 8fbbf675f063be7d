import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { usePolled, withToken } from '../kit/ask.ts';
import { linkTo, useRoute } from '../kit/route.ts';
import { DeadLettersView } from './DeadLettersView.tsx';
import { FleetView } from './FleetView.tsx';
import { FollowView } from './FollowView.tsx';
import { StateView } from './StateView.tsx';
import { WaitingView } from './WaitingView.tsx';

/** What the admin port says about its program. */
export interface Program {
  readonly program: string;
  readonly instance?: string;
  readonly version?: string;
  readonly paths: Readonly<Record<string, string>>;
}

/** The views, each with a path that the program must have. */
const views = {
  now: ['Now', 'GET /troubles'],
  waiting: ['Waiting devices', 'GET /devices'],
  letters: ['Dead letters', 'GET /dead-letters'],
  follow: ['Follow a device', 'GET /tap'],
  fleet: ['Instances', 'GET /fleet'],
} as const;

/** The page of the admin port: what the program does now. It changes nothing. */
export function OperatorsHome() {
  const { view, query } = useRoute();
  const { value: program, error, again } = usePolled<Program>('../', 5_000);
  const existing = Object.entries(views).filter(([, [, path]]) => program && path in program.paths);
  const current = existing.some(([name]) => name === view) ? (view as keyof typeof views) : 'now';

  function content(): ComponentChildren {
    if (!program)
      return error && error.status !== 401 ? <p role="alert">The admin port cannot be asked: {error.message}</p> : null;
    switch (current) {
      case 'now':
        return <StateView program={program} />;
      case 'waiting':
        return <WaitingView query={query} />;
      case 'letters':
        return <DeadLettersView query={query} />;
      case 'follow':
        return <FollowView query={query} />;
      case 'fleet':
        return <FleetView />;
    }
  }

  return (
    <>
      <header>
        <h1>{program ? `Device messaging: ${program.program}` : 'Device messaging'}</h1>
        <nav aria-label="Views">
          {existing.map(([name, [title]]) => (
            <a key={name} href={linkTo(name)} aria-current={name === current ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <span class={error ? 'is-failed' : 'quiet'} role="status">
          {error ? (error.status === 0 ? 'not connected' : error.message) : program ? 'live, read-only' : ''}
        </span>
      </header>
      <main>
        {error?.status === 401 && <TokenForm enter={again} />}
        {content()}
      </main>
    </>
  );
}

/** Where the port needs a token: it is kept in memory only, so a reload asks again. */
function TokenForm({ enter }: { readonly enter: () => void }) {
  const [token, setToken] = useState('');
  return (
    <form
      class="narrow"
      onSubmit={(event) => {
        event.preventDefault();
        withToken(token);
        setToken('');
        enter();
      }}
    >
      <div class="field">
        <label for="token">Token of the admin port (ADMIN_TOKEN)</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <p class="quiet">It is kept in the memory of this page only: a reload asks again.</p>
      </div>
      <button type="submit" class="main">
        Use it
      </button>
    </form>
  );
}
