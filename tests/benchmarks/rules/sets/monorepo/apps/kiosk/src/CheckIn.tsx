import { queueCheckIn } from "./offlineQueue";
import { useIdle } from "./useIdle";

export function CheckIn({ onDone }: { onDone: () => void }) {
  useIdle(45_000, onDone);
  return <button onClick={() => queueCheckIn(Date.now()).then(onDone)}>ok</button>;
}
