import { zodResolver } from "@hookform/resolvers/zod";
import { bookingSchema, type BookingInput } from "@tidewater/contracts";
import { Button, TextField } from "@tidewater/ui";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { useBookAppointment } from "./useBookAppointment";

export function BookingForm({ slotId }: { slotId: string }) {
  const { t } = useTranslation();
  const form = useForm<BookingInput>({ resolver: zodResolver(bookingSchema), defaultValues: { slotId } });
  const book = useBookAppointment();
  return (
    <form onSubmit={form.handleSubmit((input) => book.mutate(input))}>
      <TextField label={t("booking.reason.label")} {...form.register("visitReason")} />
      <Button type="submit" loading={book.isPending}>{t("booking.submit.label")}</Button>
    </form>
  );
}
