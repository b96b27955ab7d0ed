import { Skeleton } from "@tidewater/ui";
import { useSlots } from "./useSlots";
import { DayColumn } from "./DayColumn";

export function WeekCalendar({ practitionerId, week }: { practitionerId: string; week: string }) {
  const slots = useSlots(practitionerId, week);
  if (slots.isPending) return <Skeleton rows={7} />;
  return <div role="grid">{slots.data.days.map((day) => <DayColumn key={day.date} day={day} />)}</div>;
}
