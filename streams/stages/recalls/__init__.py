"""The recalls stage: recalls in, touches of events out."""
