import { client } from "@tidewater/contracts/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { appointmentKeys } from "./keys";

export function useBookAppointment() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: client.bookAppointment,
    onSuccess: () => queries.invalidateQueries({ queryKey: appointmentKeys.all }),
  });
}
