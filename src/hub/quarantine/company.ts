/**
 * The suspects in work in the whole process. Which of them is alone there is noted, because only that one can be parked
 * (G4). Nobody else begins before the store has taken the note that it is alone no longer.
 */
export interface Company {
  /** From now on the party's suspects count, until the returned function is called. */
  join(party: Party): () => void;
  /** Suspects in work. */
  count(): number;
  /**
   * Lets suspects begin, those of one party at a time, and after a suspect that is alone has had some time.
   * @param begin told whether no other is in work; resolves when what begins has been noted
   */
  enter(party: Party, begin: (isFirst: boolean) => Promise<void>): Promise<void>;
  /** A suspect of the party has ended. */
  left(party: Party): void;
}

/** The suspects of one partition. */
export interface Party {
  inWork(): number;
  /** Notes that its only suspect in work is alone in the process, or is it no longer; resolves when the store has taken it. */
  note(isAlone: boolean): Promise<void>;
  /** Others have ended. */
  changed(): void;
}

/** How long others wait for suspects, in milliseconds: an ordinary message takes a fraction of it. */
export const patienceMs = 1_000;

interface Loner {
  readonly party: Party;
  readonly since: number;
  /** Called when it has ended. */
  ended(): void;
}

export function createCompany(): Company {
  const parties = new Set<Party>();
  /** Whose suspect is noted as alone. */
  let loner: Loner | undefined;
  let line = Promise.resolve();

  const count = () => [...parties].reduce((sum, party) => sum + party.inWork(), 0);

  function inLine(work: () => Promise<void>): Promise<void> {
    line = line.then(work);
    return line;
  }

  const lonerOf = (party: Party): Loner => ({ party, since: performance.now(), ended() {} });

  /** When it has had its time, or has ended. */
  async function partFromLoner() {
    const one = loner;
    if (one === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, one.since + patienceMs - performance.now());
      one.ended = () => resolve(clearTimeout(timer));
    });
    if (loner !== one) return;
    await one.party.note(false);
    loner = undefined;
  }

  async function noteWhoIsLeft() {
    if (loner !== undefined || count() !== 1) return;
    const [last] = [...parties].filter((party) => party.inWork() > 0);
    if (last === undefined) return;
    loner = lonerOf(last);
    await last.note(true);
  }

  function left(party: Party) {
    if (loner?.party === party) {
      loner.ended();
      loner = undefined;
    }
    if (count() === 1) void inLine(noteWhoIsLeft);
    for (const other of parties) other.changed();
  }

  return {
    count,
    join(party) {
      parties.add(party);
      return () => {
        parties.delete(party);
        left(party);
      };
    },
    enter: (party, begin) =>
      inLine(async () => {
        await partFromLoner();
        const isFirst = count() === 0;
        await begin(isFirst);
        if (isFirst && count() === 1 && party.inWork() === 1) loner = lonerOf(party);
      }),
    left,
  };
}
