/** Does the work for a few inputs at a time; begins none after a failure. @returns the results in the order of the inputs */
export async function inOrder<In, Out>(
  together: number,
  inputs: readonly In[],
  work: (input: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  async function worker() {
    try {
      for (let index = next++; index < inputs.length; index = next++) results[index] = await work(inputs[index] as In);
    } catch (error) {
      next = inputs.length;
      throw error;
    }
  }
  await Promise.all(Array.from({ length: Math.min(together, inputs.length) }, worker));
  return results;
}
