/** Something small that is measured by itself: what it does to each of many inputs. */
export interface Subject {
  readonly group: 'masks' | 'events' | 'operators';
  /** Prepares the inputs. The function that it returns goes through all of them once. */
  prepare(count: number): () => unknown;
}
