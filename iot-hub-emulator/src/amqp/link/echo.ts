import type { Receiver, Sender } from 'rhea';

/**
 * Answer an attach with the source, the target and the properties that the client gave, as Azure does, and with the mode in
 * which it settles what it sends. Only while it attaches. Without this both are null, which says that the link is refused.
 */
export function echoAttach(link: Sender | Receiver): void {
  const { local, remote } = link as unknown as LinkState;
  const { source, target, snd_settle_mode: mode } = remote.attach;
  local.attach.source = source?.described();
  local.attach.target = target?.described();
  if (link.is_receiver() && mode !== undefined && mode !== null) local.attach.snd_settle_mode = mode;
  local.attach.value[propertiesAt] = remote.attach.value[propertiesAt]; // with their types
}

const propertiesAt = 13;

interface Terminus {
  described(): unknown;
}

/** Parts of rhea's links that its typings leave out. */
interface LinkState {
  readonly local: {
    readonly attach: {
      source: unknown;
      target: unknown;
      snd_settle_mode: number;
      readonly value: unknown[];
    };
  };
  readonly remote: {
    readonly attach: {
      readonly source: Terminus | null | undefined;
      readonly target: Terminus | null | undefined;
      readonly snd_settle_mode: number | null | undefined;
      readonly value: readonly unknown[];
    };
  };
}
