import { openArena } from '../processes/arena.ts';
import { figure } from '../statistics.ts';
import type { Workload } from './workload.ts';

export const start: Workload = {
  name: 'start',
  about: 'from the start of the process until /readyz says ready',
  async run({ rounds: asked, progress }) {
    const rounds = Math.ceil(asked / 2);
    const [wall, cpu]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      progress(`round ${round + 1} of ${rounds}`);
      const arena = await openArena({ program: 'service', devices: 1 });
      wall.push(arena.program.start.readyMs / 1000);
      cpu.push(arena.program.start.cpu / 1e6);
      await arena.stop();
    }
    return {
      rows: [
        { measure: 'time until ready', figure: figure(wall), unit: 's', goal: { atMost: 0.8 } },
        { measure: 'CPU until ready', figure: figure(cpu), unit: 's', goal: { atMost: 0.6 } },
      ],
      absolute: [],
      notes: [],
    };
  },
};
